import { z } from 'zod';
import { idPattern, idPrefixes } from './ids.ts';

/** Longest client id: that of a metadata document. */
export const CLIENT_ID_CHARACTERS_MAX = 512;

const APP_ID = idPattern('app');

/**
 * Returns true for the address of a client ID metadata document: an `https` URL in its normal form, with a path, and
 * without fragment, userinfo or dot segments. No business registered such a client.
 */
export const isMetadataUrl = (clientId: string): boolean => {
  if (!clientId.startsWith('https://') || clientId.length > CLIENT_ID_CHARACTERS_MAX) return false;
  const url = URL.parse(clientId);
  if (url === null || url.href !== clientId || url.pathname === '/') return false;
  return (
    url.username === '' && url.password === '' && !clientId.includes('#') && !clientId.includes('@', 'https://'.length)
  );
};

/** Returns true for the id of a registered app, and for the address of a metadata document. */
export const isClientId = (text: string): boolean => APP_ID.test(text) || isMetadataUrl(text);

/** Schema of a client id in responses and messages. */
export const clientIdSchema = z
  .string()
  .max(CLIENT_ID_CHARACTERS_MAX)
  .refine(isClientId)
  .meta({ description: `${idPrefixes.app}, or the URL of a client ID metadata document` });

/** Schema of a client id in a request path, percent-encoded. Accepts any text: an unknown id is a 404, not a 422. */
export const pathClientIdSchema = z.string().min(1).max(CLIENT_ID_CHARACTERS_MAX);
