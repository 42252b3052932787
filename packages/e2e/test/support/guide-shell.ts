import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CodeBlock } from '@svc/documentation';
import { waitFor } from '@svc/testing';

const BLOCK_TIMEOUT_MS = 60_000;
const OUTPUT_TIMEOUT_MS = 30_000;

/** A reader's two terminals. */
export interface GuideShell {
  /** Runs a block. Throws if it fails or prints something other than the guide shows. */
  readonly follow: (block: CodeBlock) => Promise<void>;
  /** Folder of the first terminal. */
  readonly folder: () => string;
  readonly close: () => Promise<void>;
}

export interface GuideShellOptions {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Values that a reader would fill in: `SVC=…` in a block becomes this value. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Opens two terminals: one shell for all blocks in order, and one whose program each such block replaces. */
export const openGuideShell = ({ folder: start, env, variables }: GuideShellOptions): GuideShell => {
  const environment = { ...env, PATH: `${dirname(process.execPath)}:${env['PATH']}` };
  const shell = spawn('sh', ['-e'], { cwd: start, env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
  const first = collect(shell);
  let second: { program: ChildProcess; text: () => string } | undefined;
  let folder = start;
  let printed = '';
  let isLeftOut = false;

  const paste = async (code: string): Promise<void> => {
    const mark = randomUUID();
    const from = first().length;
    shell.stdin.write(`${code}\nprintf '\\n%s %s\\n' ${mark} "$(pwd)"\n`);
    const ending = new RegExp(`^${mark} (.*)$`, 'm');
    const hasEnded = () => shell.exitCode !== null || ending.test(first());
    await waitFor(hasEnded, { timeoutMs: BLOCK_TIMEOUT_MS }).catch(() => {
      throw new Error(`still runs after ${BLOCK_TIMEOUT_MS} ms:\n${code}\n${first().slice(from)}\n${second?.text()}`);
    });
    const end = ending.exec(first());
    if (end === null) throw new Error(`failed with ${shell.exitCode}:\n${code}\n${first().slice(from)}`);
    folder = end[1] ?? folder;
    printed = first().slice(from, end.index);
  };

  const runBesides = async (code: string): Promise<void> => {
    await stop(second?.program);
    const program = spawn('sh', ['-c', code], {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    second = { program, text: collect(program) };
  };

  return {
    folder: () => folder,
    follow: async ({ code, role }) => {
      switch (role?.kind) {
        case 'run':
          isLeftOut = role.needs !== undefined && !succeeds(role.needs, environment);
          // Makes omissions visible in the test output.
          if (isLeftOut) process.stderr.write(`left out, for want of \`${role.needs}\`:\n${code}`);
          else await paste(fillIn(code, variables));
          return;
        case 'background':
          return await runBesides(fillIn(code, variables));
        case 'file':
          return writeFileSync(join(folder, role.name), code);
        case 'output': {
          if (isLeftOut && role.of === 'run') return;
          const text = role.of === 'run' ? () => printed : () => second?.text() ?? '';
          return await expectOutput(code, text);
        }
        case 'not-run':
        case 'diagram':
          return;
        default:
          throw new Error(`a block of code does not say what to do with it:\n${code}`);
      }
    },
    close: async () => {
      await stop(second?.program);
      shell.kill();
    },
  };
};

const succeeds = (command: string, env: NodeJS.ProcessEnv): boolean =>
  spawnSync('sh', ['-c', command], { env, timeout: BLOCK_TIMEOUT_MS }).status === 0;

const fillIn = (code: string, variables: Readonly<Record<string, string>>): string =>
  code.replaceAll(/^([A-Z]+)=.*$/gm, (line, name: string) =>
    variables[name] === undefined ? line : `${name}=${variables[name]}`,
  );

const collect = (program: ChildProcess): (() => string) => {
  let text = '';
  const add = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  program.stdout?.on('data', add);
  program.stderr?.on('data', add);
  return () => text;
};

/** Ends a program with its child processes and waits until its port is free. */
const stop = async (program: ChildProcess | undefined): Promise<void> => {
  if (program?.pid === undefined || program.exitCode !== null || program.signalCode !== null) return;
  // Its output ends when the last process has ended.
  const closed = once(program, 'close');
  process.kill(-program.pid, 'SIGTERM');
  await closed;
};

/** Expects the lines that a guide shows; `…` stands for anything. */
const expectOutput = async (shown: string, text: () => string): Promise<void> => {
  const pattern = new RegExp(shown.trim().split('…').map(escapePattern).join('[\\s\\S]*'));
  try {
    await waitFor(() => pattern.test(text()), { timeoutMs: OUTPUT_TIMEOUT_MS });
  } catch {
    throw new Error(`the guide shows:\n${shown}\nbut this came:\n${text()}`);
  }
};

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
