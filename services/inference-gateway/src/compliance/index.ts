export {
  attribute,
  type ComplianceMode,
  complianceHeadersOf,
  complianceModeOf,
  type RequestAttribution,
} from './compliance-metadata.ts';
export { coversModel } from './covers-model.ts';
export { recordedRequestId } from './read-request-id.ts';
export { stampBody, stampEdits } from './stamp-body.ts';
