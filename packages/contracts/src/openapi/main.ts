import { writeGenerated } from '../write-generated.ts';
import { asyncapiDocument, eventSchemasDocument } from './asyncapi-document.ts';
import { openapiDocument } from './document.ts';
import { errorsPage } from './errors-page.ts';

const files = {
  'packages/contracts/generated/openapi.json': `${JSON.stringify(openapiDocument(), null, 2)}\n`,
  'packages/contracts/generated/asyncapi.json': `${JSON.stringify(asyncapiDocument(), null, 2)}\n`,
  'packages/contracts/generated/event-schemas.json': `${JSON.stringify(eventSchemasDocument(), null, 2)}\n`,
  'docs/errors.md': errorsPage(),
};

writeGenerated(files, new URL('../../../../', import.meta.url));
