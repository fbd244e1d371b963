"""The front door: from a genome to a report in a notebook. Everything here calls the rooms; nothing is computed here.

Paths may be strings. `progress` is called with (what is being done, units done, units in all), `say` with sentences
that a person should read, `stop` is asked now and then and names a signal once one has come: `stop_asked` of
`dnagoat.training.launch.stop` turns Ctrl-C and SIGTERM into such a function.
"""
