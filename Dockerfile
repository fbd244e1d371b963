# dnagoat on a GPU node. Two stages: the first has the CUDA compiler and builds flash-attn's wheel, the second runs.
#   docker build -t dnagoat .                               with flash-attn, compiled from source: an hour or more
#   docker build -t dnagoat --build-arg FLASH_ATTN=0 .      without it: PyTorch's own fused attention does the work
# BASE replaces the base image of both stages, for a site with images of its own. The CUDA version is the one that
# PyPI's torch of constraints.txt is built for: an extension must be compiled with the same major version.
ARG BASE=
ARG DEVEL=${BASE:-nvidia/cuda:13.0.3-cudnn-devel-ubuntu24.04}
ARG RUNTIME=${BASE:-nvidia/cuda:13.0.3-cudnn-runtime-ubuntu24.04}

FROM ${DEVEL} AS flash
ARG FLASH_ATTN=1
# Compilers at once; each takes some 5 GB of memory.
ARG MAX_JOBS=4
COPY constraints.txt /build/
# hadolint ignore=DL3008
RUN mkdir /wheels \
    && if [ "$FLASH_ATTN" = 1 ]; then \
        apt-get update \
        && apt-get install -y --no-install-recommends g++ python3-dev python3-venv \
        && rm -rf /var/lib/apt/lists/* \
        && python3 -m venv /build/venv \
        && /build/venv/bin/pip install --no-cache-dir -c /build/constraints.txt \
            torch ninja numpy packaging psutil setuptools wheel \
        && FLASH_ATTENTION_FORCE_BUILD=TRUE NVCC_THREADS=2 MAX_JOBS="$MAX_JOBS" /build/venv/bin/pip wheel \
            --no-cache-dir --no-deps --no-build-isolation -c /build/constraints.txt -w /wheels flash-attn; \
    fi

FROM ${RUNTIME}
# The compiler and the headers are for `train --compile`: Triton builds its launchers where it runs.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev python3 python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /opt/dnagoat
# torch alone first: its layer is several GB and outlives every change of the code.
COPY constraints.txt /opt/source/
RUN /opt/dnagoat/bin/pip install --no-cache-dir -c /opt/source/constraints.txt torch
COPY . /opt/source
RUN --mount=type=bind,from=flash,source=/wheels,target=/wheels \
    find /wheels -name '*.whl' -exec /opt/dnagoat/bin/pip install --no-cache-dir -c /opt/source/constraints.txt {} + \
    && /opt/dnagoat/bin/pip install --no-cache-dir -c /opt/source/constraints.txt /opt/source

# The user by number, so that a cluster that forbids root can see that it is none.
RUN useradd --uid 10001 --create-home dnagoat \
    && install -d -o 10001 -g 10001 /lab /lab/data /lab/runs /lab/reports
# Caches go where any user of `docker run --user` may write; downloaded genomes into the volume, so that they stay.
ENV PATH=/opt/dnagoat/bin:$PATH \
    DNAGOAT_CACHE=/lab/data/.cache \
    MPLCONFIGDIR=/tmp/matplotlib \
    TORCHINDUCTOR_CACHE_DIR=/tmp/inductor \
    TRITON_CACHE_DIR=/tmp/triton
USER 10001
WORKDIR /lab
VOLUME ["/lab/data", "/lab/runs", "/lab/reports"]
ENTRYPOINT ["dnagoat"]
CMD ["--help"]
