#!/bin/sh
# Starts Redis with the password from its secret file; it appears on no command line and in no environment.
set -eu
umask 077
cp /etc/sluice/redis.conf /run/redis.conf
printf 'requirepass %s\n' "$(cat /run/secrets/redis-password)" >> /run/redis.conf
chown redis /run/redis.conf
# The image's own entry point drops to the user redis.
exec docker-entrypoint.sh redis-server /run/redis.conf
