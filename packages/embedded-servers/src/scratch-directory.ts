import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopOrphan } from './instance-record.ts';
import { identifyProcess } from './process-identity.ts';

const PREFIX = 'svc-scratch-';

/** A directory for servers that live no longer than this process. */
export interface ScratchDirectory {
  readonly path: string;
  remove(): void;
}

/**
 * Makes a directory below the system's temporary one, and removes those that killed processes left behind, after
 * stopping what still runs in them.
 */
export const scratchDirectory = async (): Promise<ScratchDirectory> => {
  await sweep();
  const self = identifyProcess(process.pid);
  const owner = `${process.pid}-${(self?.started ?? '').replaceAll(/\W+/g, '_')}`;
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${owner}-`));
  // To be walked through, not listed: as root, PostgreSQL runs below it as another user.
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
      await stopRecordedServers(path);
      remove(path);
    } catch {
      // Another user's, or another run sweeps it right now.
    }
  }
};

const stopRecordedServers = async (path: string): Promise<void> => {
  const suffix = '.instance.json';
  const records = readdirSync(path).filter((name) => name.endsWith(suffix));
  for (const record of records) await stopOrphan(join(path, record.slice(0, -suffix.length)), 'SIGTERM');
};

const remove = (path: string): void => {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
};
