package roles

import (
	"mycelium/internal/node/api"
	"mycelium/internal/web/site"
)

// apiRoutes are the operations for programs (D17).
func (s room) apiRoutes() []site.Route {
	return []site.Route{site.Row(s.Site, api.RolesList, nil), site.Row(s.Site, api.RolesCreate, nil), site.Row(s.Site, api.RolesShow, nil),
		site.Row(s.Site, api.RolesUpdate, nil), site.Row(s.Site, api.RolesDelete, nil)}
}
