/** A fault in starting PostgreSQL or NATS whose message can be shown to the person who started them. */
export class EmbeddedServerError extends Error {
  override readonly name: string = 'EmbeddedServerError';
}

/** No server binary is installed for this platform. */
export class BinaryMissingError extends EmbeddedServerError {
  override readonly name = 'BinaryMissingError';
}

/** Something else already listens on the wanted port. */
export class PortTakenError extends EmbeddedServerError {
  override readonly name = 'PortTakenError';
  readonly port: number;

  constructor(port: number, server: string) {
    super(`Port ${port}, wanted for ${server}, is already taken by another process.`);
    this.port = port;
  }
}

/** The data directory was made by another PostgreSQL major version, which this one cannot read. */
export class PostgresVersionError extends EmbeddedServerError {
  override readonly name = 'PostgresVersionError';
  readonly foundMajor: string;
  readonly wantedMajor: string;

  constructor(dataDir: string, foundMajor: string, wantedMajor: string) {
    super(
      `${dataDir} holds a PostgreSQL ${foundMajor} database, but this release runs PostgreSQL ${wantedMajor}. ` +
        'Dump it with the old version and restore it, or move the directory away to start empty.',
    );
    this.foundMajor = foundMajor;
    this.wantedMajor = wantedMajor;
  }
}

/** A server that somebody else still supervises uses the same data directory. */
export class DataDirectoryInUseError extends EmbeddedServerError {
  override readonly name = 'DataDirectoryInUseError';

  constructor(dataDir: string, serverPid: number, ownerPid: number) {
    super(`${dataDir} is in use by process ${serverPid}, which process ${ownerPid} supervises.`);
  }
}

/** The data directory or the binaries cannot be reached by the user that the server must run as. */
export class DataDirectoryUnreachableError extends EmbeddedServerError {
  override readonly name = 'DataDirectoryUnreachableError';
}

/** The server ended, or did not become ready, before its start time-out. */
export class ServerStartError extends EmbeddedServerError {
  override readonly name = 'ServerStartError';

  constructor(server: string, reason: string, lastLines: readonly string[]) {
    super([`${server} did not start: ${reason}.`, ...lastLines].join('\n  '));
  }
}
