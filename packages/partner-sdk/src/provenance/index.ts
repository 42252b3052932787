export {
  type ProvenanceClaims,
  type ProvenanceFault,
  ProvenanceRejectedError,
  verifyProvenance,
} from './verify-provenance.ts';
