import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh directory, readable by everybody on the way down as a server without rights needs; removed by `remove`. */
export function temporaryDirectory(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'svc-embedded-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
