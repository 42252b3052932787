import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, writePrivateFile } from '../private-file.ts';

const DAY_MS = 86_400_000;

/** Files of the authority and its certificate. */
export interface LocalAuthority {
  /** PEM of the authority, for clients that should trust the receiver. */
  readonly caFile: string;
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface LocalAuthorityOptions {
  /** Certificates that expire within this many days are replaced; default 0. */
  readonly renewBeforeDays?: number;
  readonly now?: Date;
}

/**
 * Ensures a certificate authority for this folder and a certificate for the receiver on `localhost`; keeps valid ones.
 * The authority's key is discarded after signing, so it can never sign for another name.
 */
export const ensureLocalAuthority = async (
  folder: string,
  { renewBeforeDays = 0, now = new Date() }: LocalAuthorityOptions = {},
): Promise<LocalAuthority> => {
  makePrivateFolder(folder);
  const files = {
    caFile: join(folder, 'authority.pem'),
    certificateFile: join(folder, 'certificate.pem'),
    keyFile: join(folder, 'certificate-key.pem'),
  };
  if (isGoodUntil(files, new Date(now.getTime() + renewBeforeDays * DAY_MS))) return files;
  // Slow to load and needed only once.
  const { issueCertificate } = await import('./issue-certificate.ts');
  const { ca, certificate, key } = await issueCertificate(now);
  writePrivateFile(files.keyFile, key);
  writePrivateFile(files.certificateFile, certificate);
  writePrivateFile(files.caFile, ca);
  return files;
};

/** Returns true if the three files match and are valid until then. */
const isGoodUntil = (files: LocalAuthority, until: Date): boolean => {
  try {
    const ca = new X509Certificate(readFileSync(files.caFile));
    const certificate = new X509Certificate(readFileSync(files.certificateFile));
    const key = createPrivateKey(readFileSync(files.keyFile));
    return (
      certificate.verify(ca.publicKey) &&
      certificate.checkPrivateKey(key) &&
      [ca, certificate].every(({ validTo }) => Date.parse(validTo) > until.getTime())
    );
  } catch {
    return false;
  }
};
