#include "CPresets.h"

// Swift takes half a minute to compile an array literal of this size; #embed takes no time.
static const unsigned char presets[] = {
  '[',
#embed "../QuirePagination/Presets/generic.json"
  , ',',
#embed "../QuirePagination/Presets/standards.json"
  , ',',
#embed "../QuirePagination/Presets/frameworks.json"
  , ',',
#embed "../QuirePagination/Presets/development.json"
  , ',',
#embed "../QuirePagination/Presets/platforms.json"
  , ',',
#embed "../QuirePagination/Presets/databases.json"
  , ',',
#embed "../QuirePagination/Presets/companies.json"
  , ',',
#embed "../QuirePagination/Presets/commerce.json"
  , ',',
#embed "../QuirePagination/Presets/social.json"
  , ',',
#embed "../QuirePagination/Presets/science.json"
  , ']'
};

const unsigned char *quire_presets(size_t *count) {
  *count = sizeof presets;
  return presets;
}
