export { createSvc, createSvcV2, type Svc, type SvcOptions, type SvcV2 } from './create-svc.ts';
