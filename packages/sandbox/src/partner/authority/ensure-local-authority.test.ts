import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { ensureLocalAuthority } from './ensure-local-authority.ts';

const DAY_MS = 86_400_000;
const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-authority-'));
  folders.push(folder);
  return join(folder, 'sample-partner');
};

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe('ensureLocalAuthority', () => {
  test('issues a certificate for localhost, readable only by the owner, without keeping the authority key', async () => {
    const folder = newFolder();
    const { caFile, certificateFile, keyFile } = await ensureLocalAuthority(folder);
    const ca = new X509Certificate(readFileSync(caFile));
    const certificate = new X509Certificate(readFileSync(certificateFile));
    expect(ca.ca).toBe(true);
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkHost('localhost')).toBe('localhost');
    expect(certificate.checkHost('example.com')).toBeUndefined();
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(readFileSync(keyFile, 'utf8').match(/PRIVATE KEY/g)).toHaveLength(2);
    expect(statSync(folder).mode & 0o077).toBe(0);
    for (const file of [caFile, certificateFile, keyFile]) expect(statSync(file).mode & 0o077).toBe(0);
  });

  test('keeps a valid certificate and replaces a damaged, mismatched or expiring one', async () => {
    const folder = newFolder();
    const files = await ensureLocalAuthority(folder);
    const first = readFileSync(files.caFile, 'utf8');
    await ensureLocalAuthority(folder, { renewBeforeDays: 30 });
    expect(readFileSync(files.caFile, 'utf8')).toBe(first);

    const other = await ensureLocalAuthority(newFolder());
    writeFileSync(files.keyFile, readFileSync(other.keyFile));
    await ensureLocalAuthority(folder);
    const second = readFileSync(files.caFile, 'utf8');
    expect(second).not.toBe(first);

    writeFileSync(files.certificateFile, 'no certificate');
    await ensureLocalAuthority(folder);
    const third = readFileSync(files.caFile, 'utf8');
    expect(third).not.toBe(second);

    const late = new Date(Date.now() + 800 * DAY_MS);
    await ensureLocalAuthority(folder, { now: late });
    expect(readFileSync(files.caFile, 'utf8')).toBe(third);
    await ensureLocalAuthority(folder, { now: late, renewBeforeDays: 30 });
    expect(readFileSync(files.caFile, 'utf8')).not.toBe(third);
  });
});
