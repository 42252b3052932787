export { locateNatsServer, locatePostgres, type PostgresBinaries } from './binaries.ts';
export { runToEnd } from './create-cluster.ts';
export { DataDirectoryInUseError, PortTakenError, ProcessEndedError, ProcessError, StartError } from './errors.ts';
export { claimPortBlock, freePort, isPortFree, type PortBlock } from './free-port.ts';
export {
  identifyProcess,
  isProcessIdentity,
  isStillRunning,
  type ProcessIdentity,
  stopOrphans,
} from './process-record.ts';
export { type ScratchDirectory, scratchDirectory } from './scratch-directory.ts';
export {
  type BaseBackupOptions,
  baseBackup,
  type RecoveryOptions,
  type StandbyOptions,
  startRecovered,
  startStandby,
} from './standby-and-recovery.ts';
export { type NatsOptions, type NatsServer, startNats } from './start-nats.ts';
export { type PostgresOptions, type PostgresServer, startPostgres } from './start-postgres.ts';
export { type ProcessExit, type RunningProcess, type RunningServer, startProcess } from './start-process.ts';
export { describeEnd, waitUntilReady } from './wait-until-ready.ts';
