import type { DerivedKeys, PublicSigningKey } from './derived-keys.ts';

/** Short enough, because each key is published 90 days before its first use. */
const CACHE_SECONDS = 3_600;

/** Reply with a public key set (RFC 7517 section 5). */
export interface KeySetReply {
  readonly status: 200;
  readonly body: { keys: PublicSigningKey[] };
  readonly headers: Readonly<Record<string, string>>;
}

/** Replies with the published keys. Anyone may cache them. */
export const keySetReply = async (keys: DerivedKeys): Promise<KeySetReply> => ({
  status: 200,
  body: { keys: [...(await keys.published())] },
  headers: { 'cache-control': `public, max-age=${CACHE_SECONDS}` },
});
