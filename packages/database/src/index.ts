export { type ActFilter, auditLogMigration, listActs, pruneActs, recordAct } from './audit-log.ts';
export { connectPatiently } from './connect-patiently.ts';
export type { DatabaseOptions } from './connection-config.ts';
export { createDatabase } from './create-database.ts';
export { dumpSchema } from './dump-schema.ts';
export { type MigrateOptions, migrate } from './migrate.ts';
export { MigrationError } from './migration-error.ts';
export { type DatabaseSession, openSession, type PreparedStatement, runPrepared } from './open-session.ts';
export {
  isConnectionFailure,
  isDeadlock,
  isForeignKeyViolation,
  isInvalidData,
  isLockTimeout,
  isSerializationFailure,
  isStatementTimeout,
  isUniqueViolation,
} from './postgres-errors.ts';
export { type ProvisionOptions, provision } from './provision.ts';
export { type ColumnTable, type RecordColumns, recordColumns } from './record-columns.ts';
export { requireMigrations } from './require-migrations.ts';
export { type ExportSection, streamSections } from './stream-sections.ts';
export { type RetryOptions, retryTransaction } from './transaction.ts';
