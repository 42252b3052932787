import type { ReactElement } from 'react';

/** Meaning of a state for the person. The text says it too, never the colour alone. */
export type Tone = 'good' | 'neutral' | 'warn' | 'bad';

/** A short state. */
export const Badge = ({ tone, children }: { tone: Tone; children: string }): ReactElement => (
  <span className={`badge badge-${tone}`}>{children}</span>
);
