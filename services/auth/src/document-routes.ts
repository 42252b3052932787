import { routes } from '@svc/contracts';
import { asyncapiDocument, openapiDocument } from '@svc/contracts/openapi';
import { AppError, type Binding, bind, type Clock } from '@svc/service-kit';
import { DAY_MS } from './time.ts';

/** Time for which readers may cache a description of the API. */
const DOCUMENT_SECONDS = 300;
/** RFC 9116 section 2.5.5 recommends less than a year. Each response starts the time anew. */
const SECURITY_TEXT_DAYS = 90;

interface DocumentDeps {
  readonly publicBaseUrl: string;
  /** Address for reports of vulnerabilities, as a URI. */
  readonly securityContact: string | undefined;
  readonly clock: Clock;
}

/** Binds the OpenAPI and AsyncAPI documents, which are generated from the contracts that the services bind, and security.txt. */
export const documentRoutes = ({ publicBaseUrl, securityContact, clock }: DocumentDeps): Binding[] => {
  const headers = { 'cache-control': `public, max-age=${DOCUMENT_SECONDS}` };
  const openapi = once(openapiDocument);
  const asyncapi = once(asyncapiDocument);
  return [
    bind(routes.getOpenapiDocument, async () => ({ status: 200, body: openapi(), headers })),
    bind(routes.getAsyncapiDocument, async () => ({ status: 200, body: asyncapi(), headers })),
    bind(routes.getSecurityText, async () => {
      if (securityContact === undefined) throw new AppError('not_found');
      const expires = new Date(clock().getTime() + SECURITY_TEXT_DAYS * DAY_MS).toISOString();
      const lines = [
        `Contact: ${securityContact}`,
        `Expires: ${expires}`,
        'Preferred-Languages: en, it',
        `Canonical: ${publicBaseUrl}${routes.getSecurityText.path}`,
      ];
      return { status: 200, contentType: 'text/plain; charset=utf-8', body: `${lines.join('\n')}\n` };
    }),
  ];
};

const once = (build: () => object): (() => object) => {
  let document: object | undefined;
  return () => {
    document ??= build();
    return document;
  };
};
