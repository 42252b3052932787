import { writeGenerated } from '@svc/contracts/write-generated';
import { generatedChart, generatedFiles } from './generated-files.ts';

const INFRA = new URL('../../../', import.meta.url);

writeGenerated(generatedFiles(), INFRA);
// The chart is rendered from the manifests, those that were just written included.
writeGenerated(generatedChart(), INFRA);
