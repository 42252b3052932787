export { ExtraUsageCard } from './extra-usage-card.tsx';
