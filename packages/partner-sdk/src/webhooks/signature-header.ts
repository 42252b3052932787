/** Name of the header, as Node spells header names. */
export const WEBHOOK_SIGNATURE_HEADER = 'x-svc-signature';

const HEADER_CHARACTERS_MAX = 1024;
const SIGNATURES_MAX = 8;

/** The parts of a signature header. */
export interface SignatureHeader {
  /** The signed time, as it was written: it is part of what is signed. */
  readonly timestamp: string;
  /** Every `v1`, decoded: 32 bytes each. There are several while a secret is being replaced. */
  readonly signatures: readonly Buffer[];
}

/**
 * Reads `t=<unix seconds>,v1=<hex HMAC-SHA256>`; `v1` may come several times, and other versions are passed over. Undefined
 * for anything else: there is no lenient reading of a signature.
 */
export const readSignatureHeader = (header: string): SignatureHeader | undefined => {
  if (header.length > HEADER_CHARACTERS_MAX) return undefined;
  const [first = '', ...rest] = header.split(',');
  const timestamp = /^t=(0|[1-9]\d{0,11})$/.exec(first)?.[1];
  if (timestamp === undefined) return undefined;
  const signatures: Buffer[] = [];
  for (const item of rest) {
    const version = /^v([1-9]\d?)=([\x21-\x2b\x2d-\x7e]+)$/.exec(item);
    if (version === null) return undefined;
    if (version[1] !== '1') continue;
    if (!/^v1=[0-9a-f]{64}$/.test(item) || signatures.length === SIGNATURES_MAX) return undefined;
    signatures.push(Buffer.from(item.slice(3), 'hex'));
  }
  return signatures.length === 0 ? undefined : { timestamp, signatures };
};
