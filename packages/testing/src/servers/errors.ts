/** A reason not to start. Its message is one line that says what failed and what to do, and may be shown as it is. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** A process that failed or took too long. Its output says more than the message. */
export class ProcessError extends StartError {
  override readonly name: string = 'ProcessError';
}

/** A process that ended with a failure, or before it was ready. */
export class ProcessEndedError extends ProcessError {
  override readonly name = 'ProcessEndedError';
}

export class PortTakenError extends StartError {
  override readonly name = 'PortTakenError';
  readonly port: number;

  constructor(port: number, server: string) {
    super(`Port ${port}, wanted for ${server}, is already taken by another process. Choose another port.`);
    this.port = port;
  }
}

export class DataDirectoryInUseError extends StartError {
  override readonly name = 'DataDirectoryInUseError';

  constructor(dataDir: string, serverPid: number, ownerPid: number) {
    super(
      `${dataDir} is in use by process ${serverPid}, which process ${ownerPid} supervises. Stop process ${ownerPid}.`,
    );
  }
}
