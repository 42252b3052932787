import { routes } from '@svc/contracts';
import { openapiDocument } from '@svc/contracts/openapi';
import { type Binding, bind } from '@svc/service-kit';

/** Time for which readers may cache the document. */
const DOCUMENT_SECONDS = 300;

/** Binds the route of the OpenAPI document, which is generated from the contracts that the services bind. */
export const openapiRoutes = (): Binding[] => {
  let document: unknown;
  return [
    bind(routes.getOpenapiDocument, async () => {
      document ??= openapiDocument();
      return {
        status: 200,
        body: document,
        headers: { 'cache-control': `public, max-age=${DOCUMENT_SECONDS}` },
      };
    }),
  ];
};
