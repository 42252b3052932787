// Must be loaded before the certificate library's container.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;
/** The longest lifetime that all verifiers accept for a private authority's certificate. */
const LIFETIME_DAYS = 825;

/** An authority and its one certificate, in PEM. */
export interface IssuedCertificate {
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** Creates an authority, signs a certificate for the loopback names, and discards the authority's key. */
export const issueCertificate = async (now: Date): Promise<IssuedCertificate> => {
  const keys = await crypto.subtle.generateKey(ALGORITHM, false, ['sign', 'verify']);
  // Clocks of virtual machines may lag.
  const validity = {
    notBefore: new Date(now.getTime() - DAY_MS),
    notAfter: new Date(now.getTime() + (LIFETIME_DAYS - 1) * DAY_MS),
  };
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Sample partner local authority',
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  const own = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'CN=Sample partner webhook receiver',
    issuer: ca.subject,
    publicKey: own.publicKey,
    signingKey: keys.privateKey,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
    ],
  });
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', own.privateKey);
  return {
    ca: `${ca.toString('pem')}\n`,
    certificate: `${certificate.toString('pem')}\n`,
    key: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
  };
};
