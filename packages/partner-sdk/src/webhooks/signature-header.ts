const HEADER_CHARACTERS_MAX = 1024;
const SIGNATURES_MAX = 8;

export interface SignatureHeader {
  /** Signed time, exactly as written, because the signature covers its text. */
  readonly timestamp: string;
  /** Every `v1` signature, decoded (32 bytes). Several while a secret is being replaced. */
  readonly signatures: readonly Buffer[];
}

/**
 * Parses `t=<unix seconds>,v1=<hex HMAC-SHA256>`. `v1` may occur several times; other versions are ignored. Returns
 * undefined for anything else: signatures are parsed strictly.
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
