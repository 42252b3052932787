export {
  type ActFilter,
  auditLogMigration,
  auditLogSection,
  listActs,
  pruneActs,
  type RecordableAct,
  recordAct,
} from './audit-log.ts';
export { compactIdsMigration } from './compact-ids.ts';
export type { DatabaseOptions } from './connection-config.ts';
export { createDatabase } from './create-database.ts';
export { dumpSchema } from './dump-schema.ts';
export { type CamelKeys, camelKeys, type SnakeKeys, snakeKeys } from './key-case.ts';
export { connectPatiently, type MigrateOptions, migrate, requireMigrations } from './migrate.ts';
export {
  isConnectionFailure,
  isDeadlock,
  isForeignKeyViolation,
  isInvalidData,
  isLockTimeout,
  isSerializationFailure,
  isStatementTimeout,
  isUniqueViolation,
  MigrationError,
} from './postgres-errors.ts';
export { type ProvisionOptions, provision } from './provision.ts';
export { type ColumnTable, type RecordColumns, recordColumns } from './record-columns.ts';
export {
  type DatabaseSession,
  type ExportSection,
  openSession,
  type PreparedStatement,
  runPrepared,
  streamSections,
} from './stream-sections.ts';
export { type RetryOptions, retryTransaction } from './transaction.ts';
