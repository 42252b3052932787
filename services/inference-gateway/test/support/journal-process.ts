import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./journal-script.ts', import.meta.url));

/** A process with a journal. */
export interface JournalProcess {
  /** Appends a line. Returns true if it was written. */
  readonly append: (line: string) => Promise<boolean>;
  readonly signal: (name: NodeJS.Signals) => void;
  /** Sends SIGKILL and waits for the exit. */
  readonly kill: () => Promise<void>;
}

/** Starts a process that journals the lines of its input. Its files cannot grow beyond `fileBytesMax`. */
export const startJournalProcess = async (
  directory: string,
  owner: string,
  { fileBytesMax }: { readonly fileBytesMax?: number } = {},
): Promise<JournalProcess> => {
  // POSIX: the unit is 512 bytes.
  const limit = fileBytesMax === undefined ? 'unlimited' : String(fileBytesMax / 512);
  const command = `ulimit -f ${limit}; exec "$@"`;
  const child: ChildProcess = spawn('sh', ['-c', command, 'sh', process.execPath, SCRIPT, directory, owner], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('the process has no pipes');
  const answers = createInterface(stdout)[Symbol.asyncIterator]();
  const answer = async (): Promise<string> => String((await answers.next()).value);
  if ((await answer()) !== 'open') throw new Error('the journal was not opened');
  return {
    append: async (line) => {
      stdin.write(`${line}\n`);
      return (await answer()) === 'true';
    },
    signal: (name) => child.kill(name),
    kill: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
};
