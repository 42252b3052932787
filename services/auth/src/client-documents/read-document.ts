import { appFieldsSchema, linkSchema } from '@svc/contracts';
import { z } from 'zod';
import { type DocumentedApp, findRedirectUriFault } from '../apps/index.ts';

const REDIRECT_URIS_MAX = 10;

/**
 * Members that decide. Others are ignored, as RFC 7591 section 2 asks. No business registered the client,
 * so it has no secret and authenticates by its verifier alone.
 */
const documentSchema = z.object({
  client_id: z.string(),
  redirect_uris: z.array(z.string()).min(1).max(REDIRECT_URIS_MAX),
  client_name: z.unknown().optional(),
  client_uri: z.unknown().optional(),
  policy_uri: z.unknown().optional(),
  token_endpoint_auth_method: z.literal('none').optional(),
  grant_types: z
    .array(z.string())
    .refine((types) => types.includes('authorization_code'))
    .optional(),
  client_secret: z.undefined().optional(),
});

/** Thrown for a document that is not acceptable. The message names the fault, and nothing of the document. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
}

/** Parses the metadata document at a URL into an app. Throws DocumentFault. */
export const readDocument = (clientId: string, text: string): DocumentedApp => {
  const read = documentSchema.safeParse(parseJson(text));
  if (!read.success) throw new DocumentFault(`${read.error.issues[0]?.path.join('.') ?? ''} is malformed`);
  const document = read.data;
  if (document.client_id !== clientId) throw new DocumentFault('client_id is not the URL of the document');
  const { host, origin } = new URL(clientId);
  for (const uri of document.redirect_uris) checkRedirectUri(uri, origin);
  return {
    clientId,
    // A name that could mislead is left out: the host stands beside it anyway.
    name: appFieldsSchema.shape.name.safeParse(document.client_name).data ?? host,
    redirectUris: document.redirect_uris,
    homepageUrl: linkOf(document.client_uri, origin),
    privacyPolicyUrl: linkOf(document.policy_uri, origin),
  };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new DocumentFault('not JSON');
  }
};

/** Allows what registered apps may use except private schemes, and of `https` only the origin of the document. */
const checkRedirectUri = (uri: string, origin: string): void => {
  if (findRedirectUriFault(uri, 'confidential') !== undefined) throw new DocumentFault('a redirect URI is malformed');
  const url = new URL(uri);
  if (url.protocol !== 'http:' && url.origin !== origin) throw new DocumentFault('a redirect URI has another origin');
};

/** Returns a link to the host that the page names. Others are left out. */
const linkOf = (value: unknown, origin: string): string | null => {
  const link = linkSchema.safeParse(value).data ?? null;
  return link !== null && new URL(link).origin === origin ? link : null;
};
