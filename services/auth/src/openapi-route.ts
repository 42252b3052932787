import { routes } from '@svc/contracts';
import { openapiDocument } from '@svc/contracts/openapi';
import { type Binding, bind } from '@svc/service-kit';

/** Readers may keep the document this long. */
const DOCUMENT_SECONDS = 300;

/** Serves the description of the whole API, made from the same contracts that the services bind. */
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
