#!/bin/sh
# Lets the replica connect; the image runs this once, when it creates the database.
echo "host replication postgres all scram-sha-256" >> "$PGDATA/pg_hba.conf"
