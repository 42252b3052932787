export { createSvc, type Svc, type SvcOptions } from './create-svc.ts';
