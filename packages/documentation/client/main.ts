import { enableCopyButtons } from './copy.ts';
import { enableMenu } from './menu.ts';
import { enableSearch } from './search.ts';
import { enableTheme } from './theme.ts';
import { enableTrying } from './try.ts';

// The pages are whole without scripts; each of these adds something.
enableTheme();
enableMenu();
enableCopyButtons();
enableSearch();
enableTrying();
