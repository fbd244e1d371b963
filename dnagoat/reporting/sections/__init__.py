"""One module a subject of a report: its tables and its figures. `contents` lists those of the page in their order."""
