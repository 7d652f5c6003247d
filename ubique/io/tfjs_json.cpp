// SPDX-License-Identifier: Apache-2.0
#include "ubique/io/tfjs_json.h"

#include "ubique/base/error.h"

namespace ubique::io {

const Json& tfjs_member(const Json& object, std::string_view key, Json::value_t type,
                        const std::string& where) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  check(found != object.end() && found->type() == type, ErrorKind::Input,
        "[io.tfjs] {} has no '{}' of the right kind; got {}, expected {}.", where, key,
        found == object.end() ? "none" : found->type_name(), Json(type).type_name());
  return *found;
}

const std::string& tfjs_text(const Json& object, std::string_view key, const std::string& where) {
  return tfjs_member(object, key, Json::value_t::string, where).get_ref<const std::string&>();
}

const Json& tfjs_list(const Json& object, std::string_view key, const std::string& where) {
  return tfjs_member(object, key, Json::value_t::array, where);
}

}  // namespace ubique::io
