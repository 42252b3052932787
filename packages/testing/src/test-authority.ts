// The certificate library requires it to be loaded first.
import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;

/** A key and its certificate, both PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateChoices {
  readonly names?: readonly string[];
  readonly addresses?: readonly string[];
  readonly expired?: boolean;
  /** Days until it expires; 1 by default. */
  readonly days?: number;
}

/** Certificate authority of one test run. Its certificate is in a file, as an operator would provide it. */
export interface TestAuthority {
  readonly caFile: string;
  readonly issue: (choices: CertificateChoices) => Promise<Identity>;
  readonly remove: () => void;
}

/** Creates a certificate authority trusted only by the test. */
export const createTestAuthority = async (): Promise<TestAuthority> => {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Test authority',
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + DAY_MS),
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  const directory = mkdtempSync(join(tmpdir(), 'svc-ca-'));
  const caFile = join(directory, 'ca.pem');
  writeFileSync(caFile, ca.toString('pem'));
  return {
    caFile,
    issue: async ({ names = [], addresses = [], expired = false, days = 1 }) => {
      const own = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const certificate = await x509.X509CertificateGenerator.create({
        subject: 'CN=Test receiver',
        issuer: ca.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        notBefore: new Date(Date.now() - 2 * DAY_MS),
        notAfter: new Date(Date.now() + (expired ? -DAY_MS : days * DAY_MS)),
        extensions: [
          new x509.SubjectAlternativeNameExtension([
            ...names.map((value) => ({ type: 'dns' as const, value })),
            ...addresses.map((value) => ({ type: 'ip' as const, value })),
          ]),
        ],
      });
      const pkcs8 = await crypto.subtle.exportKey('pkcs8', own.privateKey);
      return { key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'), cert: certificate.toString('pem') };
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
};
