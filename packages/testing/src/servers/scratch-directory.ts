import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identifyProcess, stopOrphans } from './process-record.ts';

const PREFIX = 'svc-scratch-';

/** A directory for servers that live no longer than this process. */
export interface ScratchDirectory {
  readonly path: string;
  readonly remove: () => void;
}

/** Creates a temporary directory. First removes those of killed processes, after stopping the orphans in them. */
export const scratchDirectory = async (): Promise<ScratchDirectory> => {
  await sweep();
  const self = identifyProcess(process.pid);
  const owner = `${process.pid}-${(self?.started ?? '').replaceAll(/\W+/g, '_')}`;
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${owner}-`));
  // Started by root, PostgreSQL runs below it as another user, which must pass through but not list it.
  chmodSync(path, 0o711);
  return { path, remove: () => remove(path) };
};

const sweep = async (): Promise<void> => {
  for (const name of readdirSync(tmpdir())) {
    const [, pid, started] = /^svc-scratch-(\d+)-(\w*)-[^-]+$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const owner = identifyProcess(Number(pid));
    if (owner !== undefined && owner.started.replaceAll(/\W+/g, '_') === started) continue;
    const path = join(tmpdir(), name);
    try {
      await stopOrphans(path);
      remove(path);
    } catch {
      // It belongs to another user, or another run is sweeping it right now.
    }
  }
};

const remove = (path: string): void => {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
};
