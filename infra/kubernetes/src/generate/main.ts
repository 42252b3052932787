import { writeGenerated } from '@svc/contracts/write-generated';
import { generatedFiles } from './generated-files.ts';

writeGenerated(generatedFiles(), new URL('../../../', import.meta.url));
