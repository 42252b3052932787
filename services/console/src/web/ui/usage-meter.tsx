import { Meter } from '@base-ui/react/meter';
import type { ReactElement } from 'react';

const NEARLY_FULL_PERCENT = 80;

/** A bar of what is used of a limit. */
export const UsageMeter = ({
  label,
  percent,
  percentText,
  text,
  note,
}: {
  label: string;
  percent: number;
  percentText: string;
  text: string;
  note: string;
}): ReactElement => {
  const level = percent >= 100 ? 'full' : percent >= NEARLY_FULL_PERCENT ? 'high' : 'low';
  return (
    <Meter.Root className="meter" value={Math.min(percent, 100)} aria-valuetext={`${percentText}, ${text}`}>
      <div className="meter-head">
        <Meter.Label className="meter-label">{label}</Meter.Label>
        <span className="meter-percent">{percentText}</span>
      </div>
      <Meter.Track className="meter-track">
        <Meter.Indicator className={`meter-bar meter-${level}`} />
      </Meter.Track>
      <p className="meter-text">
        <span>{text}</span>
        <span className="hint">{note}</span>
      </p>
    </Meter.Root>
  );
};
