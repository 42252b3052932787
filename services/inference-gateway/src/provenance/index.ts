export { provenanceOperatorRoutes, provenanceRoutes } from './routes.ts';
export { createProvenanceSigning, type SignProvenance } from './sign-provenance.ts';
