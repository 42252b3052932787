import { charts } from './charts.ts';
import { common, errors, faults, serviceFaults, shell } from './common.ts';
import { firstSteps } from './first-steps.ts';
import { overview, plans } from './overview.ts';
import { palette } from './palette.ts';
import { session } from './session.ts';

/** Texts of the frame and of the first page in English, and their shape in every language. */
export const enCore = {
  common,
  shell,
  errors,
  faults,
  serviceFaults,
  session,
  charts,
  palette,
  firstSteps,
  overview,
  plans,
};

/** Texts of the frame and of the first page in one language. */
export type CoreMessages = typeof enCore;
