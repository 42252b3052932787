export { attribute, complianceHeadersOf, type RequestAttribution } from './compliance-metadata.ts';
export { type ComplianceMode, complianceModeOf } from './compliance-mode.ts';
export { coversModel } from './covers-model.ts';
export { recordedRequestId } from './read-request-id.ts';
export { stampBody } from './stamp-body.ts';
