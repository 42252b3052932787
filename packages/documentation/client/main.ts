import { enableCodeTabs } from './code-tabs.ts';
import { enableCopyButtons } from './copy.ts';
import { enableMenu } from './menu.ts';
import { enableSearch } from './search.ts';
import { enableTheme } from './theme.ts';
import { enableTrying } from './try.ts';

// Pages work without scripts; each call adds a feature. None may move what is on the screen.
enableTheme();
enableMenu();
enableCopyButtons();
enableCodeTabs();
enableSearch();
enableTrying();
