import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';

const mount = (...args: readonly string[]): void => void execFileSync('mount', args, { stdio: 'pipe' });

const canMount = (): boolean => {
  const path = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  try {
    mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', path);
    execFileSync('umount', [path]);
    return true;
  } catch {
    process.stderr.write('SKIPPED: tests of full and read-only disks, as this user may not mount one.\n');
    return false;
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
};

/** A test that mounts disks. */
export const testWithDisk = test.skipIf(!canMount());

/** A disk of a few megabytes, for one test. */
export const smallDisk = (megabytes: number) => {
  const path = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  mount('-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path);
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', path]);
    rmSync(path, { recursive: true, force: true });
  });
  const ballast = join(path, 'ballast');
  return {
    path,
    makeReadOnly: () => mount('-o', 'remount,ro', path),
    fill: () => {
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    },
    free: () => rmSync(ballast),
  };
};
