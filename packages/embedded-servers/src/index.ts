export { locateNatsServer, locatePostgres, type PostgresBinaries } from './binaries.ts';
export {
  BinaryMissingError,
  DataDirectoryInUseError,
  DataDirectoryUnreachableError,
  EmbeddedServerError,
  PortTakenError,
  PostgresVersionError,
  ServerStartError,
} from './errors.ts';
export { freePort, isPortFree } from './free-port.ts';
export { identifyProcess, isStillRunning, type ProcessIdentity } from './process-identity.ts';
export type { RunningServer, ServerExit } from './running-server.ts';
export { type ScratchDirectory, scratchDirectory } from './scratch-directory.ts';
export { type NatsOptions, type NatsServer, startNats } from './start-nats.ts';
export { type PostgresOptions, type PostgresServer, startPostgres } from './start-postgres.ts';
