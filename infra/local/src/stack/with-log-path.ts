import { ProcessError, StartError } from '@svc/embedded-servers';
import { readablePath } from './readable-path.ts';

/** Adds the path of a process's log to the message of its failure. */
export const withLogPath = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ProcessError)) throw error;
    const end = /[.?!]$/.test(error.message) ? '' : '.';
    throw new StartError(`${error.message}${end} See ${readablePath(path)}.`, { cause: error });
  }
};
