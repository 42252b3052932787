import type { ReactElement } from 'react';

/** Meaning of a state for the person. The text states it too, so color is never the only sign. */
export type Tone = 'good' | 'neutral' | 'warn' | 'bad';

/** Renders a short state. */
export const Badge = ({ tone, children }: { tone: Tone; children: string }): ReactElement => (
  <span className={`badge badge-${tone}`}>{children}</span>
);
