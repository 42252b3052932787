import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, writePrivateFile } from '../private-file.ts';

const DAY_MS = 86_400_000;

/** Where the authority and what it has certified lie. */
export interface LocalAuthority {
  /** PEM of the authority: for whoever shall trust the receiver. */
  readonly caFile: string;
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** How to look at what is there. */
export interface LocalAuthorityOptions {
  /** A pair that ends within so many days is made anew; 0 unless given. */
  readonly renewBeforeDays?: number;
  readonly now?: Date;
}

/**
 * Makes a certificate authority of this folder alone, and the certificate of its receiver on `localhost`; keeps what is there
 * and still good. The authority's key is thrown away once it has signed: nobody can ever have it sign for another name.
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
  // Takes its time to load, and is wanted once.
  const { issueCertificate } = await import('./issue-certificate.ts');
  const { ca, certificate, key } = await issueCertificate(now);
  writePrivateFile(files.keyFile, key);
  writePrivateFile(files.certificateFile, certificate);
  writePrivateFile(files.caFile, ca);
  return files;
};

/** Whether the three files belong together and are valid until then. */
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
