import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const VALID_MS = 24 * 3600 * 1000;

/** A private key and a certificate for `localhost` that is its own authority, both PEM. */
export interface TestCertificate {
  key: string;
  certificate: string;
}

/** Makes a certificate for `localhost` that lives for a day. */
export const createTestCertificate = async (): Promise<TestCertificate> => {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=localhost',
    keys,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(Date.now() - VALID_MS),
    notAfter: new Date(Date.now() + VALID_MS),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }]),
    ],
  });
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY'), certificate: certificate.toString('pem') };
};
