# The image of Strata: its programs on a small base. Needs BuildKit, which `docker build` uses by default.
ARG BUILD_IMAGE=rust:1.95-bookworm
ARG RUNTIME_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /src
COPY . .
# The programs keep function names but no line tables. Cache mounts are not part of a layer, so the
# programs are copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    --mount=type=cache,target=/src/target,sharing=locked \
    CARGO_PROFILE_RELEASE_STRIP=debuginfo cargo build --release --locked \
        --package strata-cli --package strata-panex \
    && mkdir -p /out/bin /out/data /out/token /out/tls /out/store \
    && cp target/release/strata target/release/strata-panex /out/bin/

FROM ${RUNTIME_IMAGE}
COPY --from=build /out/bin/ /usr/local/bin/
# New volumes take their owner from these folders.
COPY --from=build --chown=10001:10001 /out/data /data
COPY --from=build --chown=10001:10001 /out/token /token
COPY --from=build --chown=10001:10001 /out/tls /tls
COPY --from=build --chown=10001:10001 /out/store /store
ENV STRATA_DATA_DIR=/data
WORKDIR /data
USER 10001:10001
# Coordinator (gRPC), worker, coordinator (HTTP).
EXPOSE 7070 7071 7080
ENTRYPOINT ["strata"]
