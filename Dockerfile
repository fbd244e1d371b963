# dnagoat on a GPU node. The runtime is plain Ubuntu: PyPI's torch brings CUDA's libraries, the driver is the host's.
#   docker build -t dnagoat .                               PyTorch's own fused attention does the work
#   docker build -t dnagoat --build-arg FLASH_ATTN=1 .      with flash-attn 2 too, compiled from source: hours. It is
#                                                           the faster one before Hopper (compute capability 9.0) alone
# ARCHS are the architectures that flash-attn is compiled for (80 is A100, 86 A10 and RTX 30, 89 L4 and RTX 40): each is
# 72 files more, ten CPU-hours for four. BASE replaces the base image of both stages, for a site with images of its own.
# The CUDA version of the compiler is the one that PyPI's torch of constraints.txt is built for: an extension must have
# the same major version.
ARG FLASH_ATTN=0
ARG BASE=
ARG DEVEL=${BASE:-nvidia/cuda:13.0.3-cudnn-devel-ubuntu24.04}
ARG RUNTIME=${BASE:-ubuntu:24.04}

# Without flash-attn no compiler's image is fetched.
FROM ${RUNTIME} AS wheels-0
RUN mkdir /wheels

FROM ${DEVEL} AS wheels-1
ARG ARCHS=80
# Compilers at once; each takes some 5 GB of memory.
ARG MAX_JOBS=4
COPY constraints.txt /build/
# hadolint ignore=DL3008
RUN mkdir /wheels \
    && apt-get update \
    && apt-get install -y --no-install-recommends g++ python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /build/venv \
    && /build/venv/bin/pip install --no-cache-dir -c /build/constraints.txt \
        torch ninja numpy packaging psutil setuptools wheel \
    && FLASH_ATTENTION_FORCE_BUILD=TRUE FLASH_ATTN_CUDA_ARCHS="$ARCHS" NVCC_THREADS=2 MAX_JOBS="$MAX_JOBS" \
        /build/venv/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation -c /build/constraints.txt \
        -w /wheels flash-attn

# hadolint ignore=DL3006
FROM wheels-${FLASH_ATTN} AS wheels

FROM ${RUNTIME}
# The compilers and the headers are for `train --compile`: Triton builds its launchers where it runs, and Inductor what
# it leaves on the host.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc g++ libc6-dev python3 python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /opt/dnagoat
# torch alone first: its layer is several GB and outlives every change of the code.
COPY constraints.txt /opt/source/
RUN /opt/dnagoat/bin/pip install --no-cache-dir -c /opt/source/constraints.txt torch
COPY . /opt/source
RUN --mount=type=bind,from=wheels,source=/wheels,target=/wheels \
    find /wheels -name '*.whl' -exec /opt/dnagoat/bin/pip install --no-cache-dir -c /opt/source/constraints.txt {} + \
    && /opt/dnagoat/bin/pip install --no-cache-dir -c /opt/source/constraints.txt \
        '/opt/source[anndata,probe,tensorboard,tracks,variants]'

# The user by number, so that a cluster that forbids root can see that it is none.
RUN useradd --uid 10001 --create-home dnagoat \
    && install -d -o 10001 -g 10001 /lab /lab/data /lab/runs /lab/reports
ENV PATH=/opt/dnagoat/bin:$PATH
USER 10001
WORKDIR /lab
VOLUME ["/lab/data", "/lab/runs", "/lab/reports"]
# Downloaded genomes go into the volume, so that they stay; where it cannot be written (Apptainer), where they always go.
ENTRYPOINT ["/bin/sh", "-c", "[ -n \"$DNAGOAT_CACHE\" ] || [ ! -w /lab/data ] || export DNAGOAT_CACHE=/lab/data/.cache; exec dnagoat \"$@\"", "dnagoat"]
CMD ["--help"]
