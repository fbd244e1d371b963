#!/usr/bin/env bash
# Does the Dockerfile build, and do the docker commands of docs/gpu.md work in its image? Without a Docker engine and
# without a GPU: buildah in a chroot, over a base that debootstrap makes, as somebody whom the image does not know, with
# folders of their own. Needs root, Debian's packages buildah and debootstrap, 20 GB of disk and half an hour.
#
#   benchmarks/image.sh [ARGUMENTS OF buildah build AND run ...]
#
# The arguments are for what a site needs to reach its registries, for example --volume /etc/pip.conf:/etc/pip.conf:ro.
# SUITE and MIRROR choose the base (bookworm, from debootstrap's own mirror). The image stays, localhost/dnagoat, and
# is taken as it is where REUSE is set.
set -euo pipefail
cd "$(dirname "$0")/.."
export BUILDAH_ISOLATION=chroot
site=("$@")
scratch=$(mktemp -d)
container=
trap '[ -z "$container" ] || buildah rm "$container" >/dev/null; rm -rf --one-file-system "$scratch"' EXIT

say() { printf '\n== %s (%d min %02d s)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60)); }

build() {
    say "base image"
    debootstrap --variant=minbase --include=ca-certificates "${SUITE:-bookworm}" "$scratch/base" ${MIRROR:+"$MIRROR"} >"$scratch/log"
    container=$(buildah from scratch)
    buildah add --quiet "$container" "$scratch/base" / >/dev/null
    buildah commit --quiet --rm "$container" localhost/dnagoat-base >/dev/null
    container=

    say "building"
    # buildah 1.28, which is Debian 12's, takes a stage whose name an argument makes for an image: so it is one.
    buildah build "${site[@]}" --pull-never --build-arg BASE=localhost/dnagoat-base --target wheels-0 --tag localhost/wheels-0 .
    buildah build "${site[@]}" --pull-never --build-arg BASE=localhost/dnagoat-base --tag localhost/dnagoat .
}
if [ -z "${REUSE:-}" ]; then build; fi

container=$(buildah from --pull-never localhost/dnagoat)
# In a chroot buildah may lay the image's own volumes over those of the command line.
buildah config --volume /lab/data- --volume /lab/runs- --volume /lab/reports- "$container"
buildah images --format '{{.Name}} {{.Size}}' localhost/dnagoat
mapfile -t entry < <(buildah inspect --format '{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}' "$container")

# What `docker run` does with the image: its entry point, and the home / for a user without a name.
docker() {
    # In a chroot nobody knows buildah's own host name, by which torchrun's processes meet.
    local options=(--env HOME=/ --hostname localhost) first=("${entry[@]}")
    while [ "$1" != dnagoat ]; do
        case $1 in
            run | --rm | --ipc=host) ;;
            --gpus) shift ;;
            --user | -v) options+=("$1" "$2") && shift ;;
            --entrypoint) first=("$2") && shift ;;
            *) echo "docker $1 is not known here" >&2 && exit 2 ;;
        esac
        shift
    done
    shift
    buildah run "${site[@]}" "${options[@]}" "$container" -- "${first[@]}" "$@"
}

# Somebody whom the image does not know, in a folder with folders of their own.
somebody=4321
id() { echo $somebody; }

# The commands of the guide, a line each, as they stand there but for sizes: this asks whether it works, not how well.
mapfile -t commands < <(sed -e :a -e '/\\$/{N;s/ *\\\n */ /;ba' -e '}' docs/gpu.md | sed -n '/^docker run/p')
small="--preset tiny --steps 4 --batch-size 2 --eval-windows 8"
smaller() {
    sed -e "/ train /s/\$/ $small/" -e 's/ 8 -m/ 2 -m/; s/hg38/demo/' -e '/ evaluate /s/$/ --windows 8/' \
        -e '/ report /s/$/ --skip lengths --windows 8 --prompts 4/' <<<"$1"
}
train=$(printf '%s\n' "${commands[@]}" | grep 'dnagoat train')

chmod 755 "$scratch"
cd "$scratch"
mkdir data runs reports
chown $somebody:$somebody data runs reports
say "the extras"
docker run --rm --user $somebody:$somebody --entrypoint python dnagoat -c 'import anndata, pyBigWig, pysam, sklearn, tensorboard'
for command in "${commands[@]}"; do
    say "$(smaller "$command")"
    eval "$(smaller "$command")"
done
# Waves are what Inductor could want a compiler for, on the host too.
for position in rope goat; do
    say "train --compile, $position"
    eval "$(smaller "$train") --compile --position $position --out runs/compiled-$position"
done
say "whose files these are"
test -z "$(find data runs reports ! -uid $somebody)"
say "passed"
