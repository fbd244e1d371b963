#!/usr/bin/env bash
# Does the Dockerfile build, and does its image do the demo's work? Without a Docker engine and without a GPU: buildah in
# a chroot, over a base that debootstrap makes, as another user with folders of their own. Needs root, Debian's packages buildah and debootstrap,
# 20 GB of disk and a quarter of an hour on two quiet cores.
#
#   benchmarks/image.sh [ARGUMENTS OF buildah build AND run ...]
#
# The arguments are for what a site needs to reach its registries, for example --volume /etc/pip.conf:/etc/pip.conf:ro.
# SUITE and MIRROR choose the base (bookworm, from debootstrap's own mirror).
set -euo pipefail
cd "$(dirname "$0")/.."
export BUILDAH_ISOLATION=chroot
scratch=$(mktemp -d)
container=
trap '[ -z "$container" ] || buildah rm "$container" >/dev/null; rm -rf --one-file-system "$scratch"' EXIT

say() { printf '\n== %s (%d min %02d s)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

say "base image"
debootstrap --variant=minbase --include=ca-certificates "${SUITE:-bookworm}" "$scratch/base" ${MIRROR:+"$MIRROR"} >"$scratch/log"
container=$(buildah from scratch)
buildah add --quiet "$container" "$scratch/base" / >/dev/null
buildah commit --quiet --rm "$container" localhost/dnagoat-base >/dev/null
container=

say "building"
# buildah 1.28, which is Debian 12's, takes a stage whose name an argument makes for an image: so it is one.
buildah build "$@" --pull-never --build-arg BASE=localhost/dnagoat-base --target wheels-0 --tag localhost/wheels-0 .
buildah build "$@" --pull-never --build-arg BASE=localhost/dnagoat-base --tag localhost/dnagoat .

container=$(buildah from --pull-never localhost/dnagoat)
# In a chroot buildah may lay the image's own volumes over those of the command line.
buildah config --volume /lab/data- --volume /lab/runs- --volume /lab/reports- "$container"
# Somebody whom the image does not know, without a home, with folders of their own: `docker run --user`.
somebody=4321
chmod 755 "$scratch"
mkdir "$scratch/data" "$scratch/runs" "$scratch/reports"
chown $somebody:$somebody "$scratch"/{data,runs,reports}
in_image() {
    buildah run "${site[@]}" --user $somebody:$somebody --env HOME=/ --volume "$PWD/.ci:/ci:ro" --volume "$scratch/data:/lab/data" \
        --volume "$scratch/runs:/lab/runs" --volume "$scratch/reports:/lab/reports" "$container" -- "$@"
}
site=("$@")
say "who and what runs"
in_image id
in_image dnagoat info
say "the extras"
in_image /opt/dnagoat/bin/python -c 'import anndata, pyBigWig, pysam, sklearn, tensorboard'
say "the whole job in miniature"
in_image /ci/miniature
test "$(stat -c %u "$scratch/runs/goat/summary.json")" = $somebody
say "passed"
buildah images --format '{{.Name}} {{.Size}}' localhost/dnagoat
