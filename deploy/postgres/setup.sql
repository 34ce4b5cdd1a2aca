-- A database and roles for Halyard with least privilege. Run this as a superuser, with your own passwords:
--
--   psql -v password="$(cat halyard-password)" -v backup_password="$(cat backup-password)" -f setup.sql
--
-- `halyard` owns its tables and nothing else, so that a new version can migrate them. `halyard_backup` can only read them.

CREATE ROLE halyard LOGIN PASSWORD :'password' CONNECTION LIMIT 100;
CREATE ROLE halyard_backup LOGIN PASSWORD :'backup_password' CONNECTION LIMIT 4;
CREATE DATABASE halyard TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';

REVOKE ALL ON DATABASE halyard FROM PUBLIC;
GRANT CONNECT ON DATABASE halyard TO halyard, halyard_backup;

\connect halyard
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO halyard;
GRANT USAGE ON SCHEMA public TO halyard_backup;
ALTER DEFAULT PRIVILEGES FOR ROLE halyard IN SCHEMA public GRANT SELECT ON TABLES TO halyard_backup;
